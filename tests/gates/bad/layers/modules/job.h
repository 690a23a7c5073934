void *memory_of(void);
