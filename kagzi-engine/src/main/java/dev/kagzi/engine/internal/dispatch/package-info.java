/**
 * Dispatch: how due runs reach waiting workers.
 *
 * <p>{@link dev.kagzi.engine.internal.dispatch.Dispatcher} is what other packages call. A {@code
 * TaskQueue} is plain state behind one lock: it decides, and returns {@code QueueEffects}, which
 * {@code EffectExecutor} executes. The threads of {@code ClaimLoop} run the claim queries.
 *
 * <p>A run reaches a worker in one of two ways. If a slot is free that no older run needs when the
 * run starts, it is inserted as claimed and its task is delivered from memory. Otherwise an event
 * announces it, and a claim query finds it. A poll is in its queue before the query is sent, so
 * that no announcement is lost in between.
 */
@NullMarked
package dev.kagzi.engine.internal.dispatch;

import org.jspecify.annotations.NullMarked;
