/**
 * Starts runs and waits for their end, for any number of concurrent callers.
 *
 * <p>Invariant: under load neither costs one call per run. Starts that arrive while a call is in
 * flight share the next call. All awaited runs share one stream, which is reopened after it breaks.
 * Each start carries its own run id, so it can be sent again safely. Both run in the root gRPC
 * context, so a cancelled caller does not cancel what others share.
 *
 * <p>May depend on {@code wire}, {@code history}, {@code log} and the public package.
 */
@NullMarked
package dev.kagzi.sdk.internal.client;

import org.jspecify.annotations.NullMarked;
