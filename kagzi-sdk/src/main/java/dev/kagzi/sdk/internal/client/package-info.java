/**
 * Starting runs and waiting for their ends, for any number of callers at once.
 *
 * <p>Promise: under load neither costs a call per run. Starts that arrive while a call is under way
 * go together in the next; all awaited runs share one stream, which is opened again, with all that
 * is still awaited, for as long as it takes. Every start carries a run id of its own, so that
 * sending it again is safe.
 *
 * <p>May know {@code wire} and the public package.
 */
@NullMarked
package dev.kagzi.sdk.internal.client;

import org.jspecify.annotations.NullMarked;
