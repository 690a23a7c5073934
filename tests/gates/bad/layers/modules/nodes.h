void nodes_place(void);
