/* Hides changes of network interfaces from Chromium in tests. Containers of other tests create and remove interfaces all the
 * time, and Chromium then drops every waiting request. Without the socket for such changes it assumes that it is online. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <sys/socket.h>

int socket(int domain, int type, int protocol) {
  static int (*real)(int, int, int);
  if (domain == AF_NETLINK) {
    errno = EAFNOSUPPORT;
    return -1;
  }
  if (!real) real = (int (*)(int, int, int))dlsym(RTLD_NEXT, "socket");
  return real(domain, type, protocol);
}
