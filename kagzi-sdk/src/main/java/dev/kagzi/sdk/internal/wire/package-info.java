/**
 * The connection to the server: the channel with its stubs, which errors pass by themselves, how
 * long to wait before trying again, and the translation between messages and the SDK's types.
 *
 * <p>Calls are asynchronous and their answers arrive on the channel's own platform threads; what
 * runs there must not block and must never be user code. May know the public package, nothing else.
 */
@NullMarked
package dev.kagzi.sdk.internal.wire;

import org.jspecify.annotations.NullMarked;
