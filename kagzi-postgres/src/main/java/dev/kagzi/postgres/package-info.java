/**
 * A PostgreSQL server that comes along with the program: for {@code kagzi dev}, for tests and for
 * benchmarks. It needs nothing installed; the binaries are a jar on the class path and are unpacked
 * once per user.
 *
 * <p>Promises, in this order. What a durable server has committed survives the death of everybody:
 * of this JVM, of PostgreSQL, of the machine. A server never outlives its starter: it runs under a
 * small {@code sh} that holds a pipe from this JVM and stops the server when the pipe closes,
 * however that happens. One directory has one owner; the next start finds and ends what a murdered
 * owner may have left behind. Nobody but the owner of the directory can log in: the server listens
 * on the loopback address only and asks for a random password, kept in a file of the directory.
 *
 * <p>Knows JDBC and processes, and nothing of Kagzi.
 */
@NullMarked
package dev.kagzi.postgres;

import org.jspecify.annotations.NullMarked;
