package dev.kagzi.engine.internal.dispatch;

import dev.kagzi.engine.dispatch.Task;
import dev.kagzi.engine.value.Claim;
import dev.kagzi.engine.value.QueueName;
import dev.kagzi.engine.value.RunId;
import dev.kagzi.engine.value.TypeVersion;
import java.util.List;
import java.util.function.BiConsumer;
import java.util.function.BiPredicate;
import java.util.function.BooleanSupplier;
import java.util.function.Consumer;
import java.util.function.Predicate;

/**
 * What dispatch needs from the rest of the engine.
 *
 * @param release releases claims whose tasks no worker received
 * @param failCrashed fails a run whose workers died too often
 * @param leaseEnded called for a run that a claim query took over because its lease had ended
 * @param admit whether a worker may receive the task that was just claimed; if it returns false, it
 *     ends the claim itself
 * @param isEnabled whether runs of a namespace are dispatched
 * @param isAlone whether this server has been the only one on its database for a while
 */
public record DispatchCallbacks(
    Consumer<List<Claim>> release,
    Consumer<RunId> failCrashed,
    BiConsumer<QueueName, TypeVersion> leaseEnded,
    BiPredicate<QueueName, Task> admit,
    Predicate<String> isEnabled,
    BooleanSupplier isAlone) {}
