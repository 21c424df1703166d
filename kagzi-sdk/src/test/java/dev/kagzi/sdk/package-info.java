/** Tests of the SDK against an in-memory server, and of its pure functions. */
@NullMarked
package dev.kagzi.sdk;

import org.jspecify.annotations.NullMarked;
