/** Tests of the SDK against a server in memory, and of its pure parts. */
@NullMarked
package dev.kagzi.sdk;

import org.jspecify.annotations.NullMarked;
