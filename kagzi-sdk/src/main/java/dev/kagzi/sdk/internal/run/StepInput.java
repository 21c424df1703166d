package dev.kagzi.sdk.internal.run;

import dev.kagzi.protocol.v1.Payload;
import java.util.function.Predicate;

/**
 * What a step works on.
 *
 * @param hash the same for the same input, however the payload is encoded
 * @param isOf whether a hash that was recorded is of this input
 */
record StepInput(Payload payload, String hash, Predicate<String> isOf) {}
