package dev.kagzi.sdk.internal.run;

import dev.kagzi.protocol.v1.Payload;

/**
 * What a step works on.
 *
 * @param hash the same for the same input, however the payload is encoded
 */
record StepInput(Payload payload, String hash) {}
