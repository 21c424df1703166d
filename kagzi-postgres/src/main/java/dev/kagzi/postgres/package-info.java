/**
 * An embedded PostgreSQL server: for {@code kagzi dev}, tests and benchmarks. It needs no
 * installation; the binaries are a jar on the class path and are unpacked once per user.
 *
 * <p>Promises, in this order. Commits of a durable server survive a crash of this JVM, of
 * PostgreSQL or of the machine. A server ends with the JVM that started it: a small {@code sh}
 * process holds a pipe from the JVM and stops the server when the pipe closes for any reason. If
 * both processes were killed, the next start with the directory stops the server. One directory has
 * one owner. Only the owner of the directory can log in: the server listens on the loopback address
 * only and requires a random password, stored in a file of the directory.
 *
 * <p>Knows JDBC and processes, and nothing of Kagzi.
 */
@NullMarked
package dev.kagzi.postgres;

import org.jspecify.annotations.NullMarked;
