/**
 * The options of a server: what there is, in which unit and range, and what holds unless somebody
 * says otherwise.
 *
 * <p>{@link dev.kagzi.server.config.ServerOption} is the one list of them; the command line, the
 * environment, the file and the documentation follow from it. {@link
 * dev.kagzi.server.config.Settings} is what came of all places together. What nobody knows is
 * refused by name: a typing error must not become a default.
 *
 * <p>May know nothing of the server, which reads its configuration from here.
 */
@NullMarked
package dev.kagzi.server.config;

import org.jspecify.annotations.NullMarked;
