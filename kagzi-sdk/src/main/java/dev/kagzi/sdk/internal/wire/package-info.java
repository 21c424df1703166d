/**
 * The connection to the server: channel, stubs, error classification, back-off, and the conversion
 * between messages and the SDK's types.
 *
 * <p>Asynchronous calls deliver their answers on the channel's platform threads. Callbacks there
 * must not block and must never run user code. May depend on the public package and on {@code log},
 * nothing else.
 */
@NullMarked
package dev.kagzi.sdk.internal.wire;

import org.jspecify.annotations.NullMarked;
