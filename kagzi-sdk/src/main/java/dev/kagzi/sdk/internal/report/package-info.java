/**
 * Sends the reports of a worker's runs to the server.
 *
 * <p>Guarantee while the client is open: every report is answered, even if the server was down in
 * between. Reports of one run are sent in order ({@link dev.kagzi.sdk.internal.wire.BatchSender}).
 *
 * <p>May depend on {@code wire} and {@code log}. Must not know what a step or a workflow is.
 */
@NullMarked
package dev.kagzi.sdk.internal.report;

import org.jspecify.annotations.NullMarked;
