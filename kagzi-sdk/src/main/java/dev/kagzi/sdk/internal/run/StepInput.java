package dev.kagzi.sdk.internal.run;

import dev.kagzi.protocol.v1.Payload;
import java.util.function.Predicate;

/**
 * The declared input of a step. The hash is the fingerprint of the value, not of the payload;
 * {@code isOf} tests whether a recorded hash is of the same value.
 */
record StepInput(Payload payload, String hash, Predicate<String> isOf) {}
