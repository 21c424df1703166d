/**
 * Rows in the database of an application: the results of transactional steps. It uses interfaces of
 * {@code java.sql} only, and knows neither workers nor the server.
 *
 * <p>Invariant: at most one transaction that executed a step's code commits, and its result is in
 * the step's row.
 */
@NullMarked
package dev.kagzi.sdk.internal.jdbc;

import org.jspecify.annotations.NullMarked;
