/**
 * Executes one run: replays recorded steps, executes new ones, and reports the results.
 *
 * <p>A run's main code has one virtual thread, and each open branch has its own. A step's result is
 * held back until the code calls its next effect. So the last step and the end of the run leave in
 * one report. Nothing with an effect starts before the previous result is acknowledged. The server
 * decides all delays and whether a failure is retried. Code that does not match the history
 * releases the run and never fails it.
 *
 * <p>May know {@code report} and {@code wire}. Must not know how tasks arrive or workers register.
 */
@NullMarked
package dev.kagzi.sdk.internal.run;

import org.jspecify.annotations.NullMarked;
