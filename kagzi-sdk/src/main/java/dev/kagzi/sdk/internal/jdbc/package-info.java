/**
 * Statements in databases of the application: the results of transactional steps, and the outbox
 * with its relay. Also the calls that request starts and signals in the database of the server. It
 * uses the JDBC interfaces of the JDK only, and knows neither workers nor the connection to the
 * server.
 *
 * <p>Invariant: at most one transaction that executed a step's code commits, and its result is in
 * the step's row.
 */
@NullMarked
package dev.kagzi.sdk.internal.jdbc;

import org.jspecify.annotations.NullMarked;
