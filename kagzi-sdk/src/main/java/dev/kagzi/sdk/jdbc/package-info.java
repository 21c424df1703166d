/**
 * Transactions of runs with the tables of an application. Depends on the interfaces of JDBC only.
 *
 * <p>A transactional step ({@link dev.kagzi.sdk.WorkflowContext#transaction}) stores its result in
 * the application's database, in the transaction of its effects. {@link
 * dev.kagzi.sdk.jdbc.StepTable} is the table of these results.
 *
 * <p>An outbox ({@link dev.kagzi.sdk.jdbc.OutboxTable}) contains starts and signals that the
 * application wrote in its own transactions. A relay ({@link dev.kagzi.sdk.jdbc.OutboxRelay}) sends
 * them after the commit.
 */
@NullMarked
package dev.kagzi.sdk.jdbc;

import org.jspecify.annotations.NullMarked;
