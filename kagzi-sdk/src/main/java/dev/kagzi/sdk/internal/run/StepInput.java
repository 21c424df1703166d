package dev.kagzi.sdk.internal.run;

import dev.kagzi.protocol.v1.Payload;
import java.util.function.Predicate;

/** The declared input; the hash is independent of the payload's encoding. */
record StepInput(Payload payload, String hash, Predicate<String> isOf) {}
