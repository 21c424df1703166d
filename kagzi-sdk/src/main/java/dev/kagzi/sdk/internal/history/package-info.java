/**
 * Recorded runs as files, for {@link dev.kagzi.sdk.RunHistory}.
 *
 * <p>Reading a file restores exactly what was written; payloads are restored byte for byte. The
 * format is described in docs/testing.md and has a version number; later additions are optional.
 *
 * <p>May depend on {@code wire}, the protocol and the public package. Must not know how runs are
 * executed.
 */
@NullMarked
package dev.kagzi.sdk.internal.history;

import org.jspecify.annotations.NullMarked;
