package dev.kagzi.sdk.internal.run;

import dev.kagzi.protocol.v1.Payload;
import java.util.function.Predicate;

/**
 * The declared input of a step.
 *
 * @param hash equal for equal inputs, independent of the payload's encoding
 * @param isOf whether a recorded hash belongs to this input
 */
record StepInput(Payload payload, String hash, Predicate<String> isOf) {}
