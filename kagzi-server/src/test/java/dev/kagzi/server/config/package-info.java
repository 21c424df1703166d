/** The options, tested without a server. */
@NullMarked
package dev.kagzi.server.config;

import org.jspecify.annotations.NullMarked;
