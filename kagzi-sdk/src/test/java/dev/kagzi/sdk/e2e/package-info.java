/**
 * End-to-end tests of the SDK with the real server on a real PostgreSQL, also over connections that
 * break.
 */
@NullMarked
package dev.kagzi.sdk.e2e;

import org.jspecify.annotations.NullMarked;
