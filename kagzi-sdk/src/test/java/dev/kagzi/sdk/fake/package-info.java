/**
 * A server in memory that speaks the wire's language, for tests of the SDK alone: it can be stopped
 * and started, made to fail calls, and made to hold them, and it counts what it hears. Not a model
 * of the engine; the end-to-end tests use the real one.
 */
@NullMarked
package dev.kagzi.sdk.fake;

import org.jspecify.annotations.NullMarked;
