/**
 * The options of a server: names, types, units, ranges and defaults.
 *
 * <p>{@link dev.kagzi.server.config.ServerOption} is the one list of them; the command line, the
 * environment, the file and the documentation follow from it. {@link
 * dev.kagzi.server.config.Settings} holds the resolved values. Unknown names are rejected:
 * otherwise a typing error would silently leave a default in place.
 *
 * <p>Must not use the rest of the server, which reads its configuration from here.
 */
@NullMarked
package dev.kagzi.server.config;

import org.jspecify.annotations.NullMarked;
