package dev.kagzi.sdk.internal.run;

import dev.kagzi.protocol.v1.Payload;
import java.util.function.Predicate;

/** The declared input of a step; the hash is the fingerprint of the value, not of the payload. */
record StepInput(Payload payload, String hash, Predicate<String> isOf) {}
