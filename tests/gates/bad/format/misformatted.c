/* Bad: not what clang-format writes. */
int main( void ){
  int  status = 0 ;
  return status; }
