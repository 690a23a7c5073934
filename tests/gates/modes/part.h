/* tests/gates/modes/part.h — the second file */
enum { P = 4, COUNT = 10 };

#ifdef __cplusplus
extern "C" {
#endif
coll_status begin(coll_comm *comm, double *x, coll_request *call);
const coll_algorithm *ring(void);
#ifdef __cplusplus
}
#endif
