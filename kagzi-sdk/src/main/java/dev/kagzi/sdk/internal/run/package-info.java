/**
 * Executes one run: replays what is recorded, executes what is not, and says what happened.
 *
 * <p>A run's code has one virtual thread. A step's result is held back until the code asks for its
 * next effect, so that the last step and the end of the run leave in one report; nothing with an
 * effect begins before the previous result is acknowledged. The server decides all delays and the
 * fate of failures; what cannot be reconciled with the record gives the run back and never fails
 * it.
 *
 * <p>May know {@code report} and {@code wire}. Must not know how tasks arrive or workers register.
 */
@NullMarked
package dev.kagzi.sdk.internal.run;

import org.jspecify.annotations.NullMarked;
