/*
 * hold-open.exe PATH SHARE READY RELEASE: opens PATH for reading with this share mode (a sum of 1 read, 2 write, 4 delete),
 * creates READY, and keeps PATH open until RELEASE exists, for at most 60 seconds.
 */
#include <windows.h>

int wmain(int argc, wchar_t **argv) {
  HANDLE held, ready;
  int waits;
  if (argc != 5) return 2;
  held = CreateFileW(argv[1], GENERIC_READ, (DWORD)_wtoi(argv[2]), NULL, OPEN_EXISTING, 0, NULL);
  if (held == INVALID_HANDLE_VALUE) return 1;
  ready = CreateFileW(argv[3], GENERIC_WRITE, 0, NULL, CREATE_ALWAYS, 0, NULL);
  if (ready == INVALID_HANDLE_VALUE) return 1;
  CloseHandle(ready);
  for (waits = 0; waits < 3000 && GetFileAttributesW(argv[4]) == INVALID_FILE_ATTRIBUTES; waits++) Sleep(20);
  CloseHandle(held);
  return 0;
}
