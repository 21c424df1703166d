/**
 * The public API of Kagzi: write workflows as plain methods, start them, and run workers.
 *
 * <p>A client starts runs and waits for them ({@link dev.kagzi.sdk.Kagzi}). A worker executes them
 * ({@link dev.kagzi.sdk.Worker}). A workflow is a method that receives a {@link
 * dev.kagzi.sdk.WorkflowContext} and performs every side effect in a step. Each step's result is
 * recorded, so an interrupted run continues where it was.
 *
 * <p>Names that are not allowed throw {@link dev.kagzi.sdk.InvalidArgumentException}; numbers and
 * durations out of range throw {@link IllegalArgumentException}. Setters do not list the two.
 * Values that only the server checks, such as cron expressions, upper limits and names given to
 * {@link dev.kagzi.sdk.Namespaces}, throw {@link dev.kagzi.sdk.RequestRefusedException} when they
 * are sent.
 *
 * <p>Depend only on this package and on {@code dev.kagzi.sdk.jdbc}. Packages under {@code internal}
 * may change with any release, and no signature here mentions them.
 */
@NullMarked
package dev.kagzi.sdk;

import org.jspecify.annotations.NullMarked;
