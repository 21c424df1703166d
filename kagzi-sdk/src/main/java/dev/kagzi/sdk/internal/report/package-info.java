/**
 * Sends the reports of a worker's runs to the server.
 *
 * <p>Guarantee: every item is answered, even if the server was down in between. Items of one run
 * are sent in order: the next goes in the same call behind the previous one, or after that was
 * answered. Items that queue while calls are in flight go together in the next call. There is no
 * timer and no own thread.
 *
 * <p>May know {@code wire}. Must not know what a step or a workflow is.
 */
@NullMarked
package dev.kagzi.sdk.internal.report;

import org.jspecify.annotations.NullMarked;
