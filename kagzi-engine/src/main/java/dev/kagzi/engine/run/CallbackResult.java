package dev.kagzi.engine.run;

/**
 * What a callback was answered with.
 *
 * @param failed its first answer is a failure
 * @param repeated it was answered before; the first answer stays
 */
public record CallbackResult(boolean failed, boolean repeated) {}
