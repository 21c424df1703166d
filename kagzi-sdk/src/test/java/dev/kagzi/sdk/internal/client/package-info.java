/** Tests of what needs no server. */
@NullMarked
package dev.kagzi.sdk.internal.client;

import org.jspecify.annotations.NullMarked;
