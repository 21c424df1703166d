/**
 * Executes one run: replays recorded steps, executes new ones, and reports the results.
 *
 * <p>A run's main code has one virtual thread, and each open branch has its own. A step's result is
 * held back until its thread sends its next report, or until a tick finds it 20 ms old. So the last
 * step and the end of the run usually leave in one report. The code of a step starts only after the
 * earlier results of its thread are durable. The server decides whether and when a failure is
 * retried. If the code cannot continue with the history, the run is released and does not fail.
 *
 * <p>May depend on {@code report}, {@code wire}, {@code jdbc}, {@code trace}, {@code metrics} and
 * {@code log}. Must not know how tasks arrive or workers register.
 */
@NullMarked
package dev.kagzi.sdk.internal.run;

import org.jspecify.annotations.NullMarked;
