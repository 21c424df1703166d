/** The SDK against the real server on a real PostgreSQL, through connections that break. */
@NullMarked
package dev.kagzi.sdk.e2e;

import org.jspecify.annotations.NullMarked;
