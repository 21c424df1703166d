/**
 * Kagzi for application code: write workflows as plain methods, start them, run workers.
 *
 * <p>A client starts runs and waits for them ({@link dev.kagzi.sdk.Kagzi}); a worker executes them
 * ({@link dev.kagzi.sdk.Worker}); a workflow is a method that receives a {@link
 * dev.kagzi.sdk.WorkflowContext} and does everything with an effect in steps. The result of each
 * step is recorded, so that a run that was interrupted goes on where it was.
 *
 * <p>This package is the public face and the only one to depend on. What is under {@code internal}
 * may change with any release, and no signature here mentions it.
 */
@NullMarked
package dev.kagzi.sdk;

import org.jspecify.annotations.NullMarked;
