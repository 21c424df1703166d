/** Tests the server from outside: real sockets, real PostgreSQL, clients made of bare stubs. */
@NullMarked
package dev.kagzi.server;

import org.jspecify.annotations.NullMarked;
