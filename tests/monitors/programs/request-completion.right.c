enum { REQUEST_PENDING = 259 };
struct request { int is_read; };
void request_mark_pending(struct request *);
void request_skip(struct request *);
void request_copy(struct request *);
void request_set_routine(struct request *);
int request_forward(struct request *);
void request_wait(struct request *);
void request_complete(struct request *);

int dispatch(struct request *request) {
  int status;
  if (!request->is_read) {
    request_skip(request);
    status = request_forward(request);
    return status;
  }
  request_copy(request);
  request_set_routine(request);
  status = request_forward(request);
  if (status == REQUEST_PENDING) request_wait(request);
  request_complete(request);
  return 0;
}
int __VERIFIER_nondet_int(void);
int main(void) {
  struct request request = {__VERIFIER_nondet_int()};
  dispatch(&request);
  return 0;
}
