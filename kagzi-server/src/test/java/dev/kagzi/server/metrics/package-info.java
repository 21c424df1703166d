@NullMarked
package dev.kagzi.server.metrics;

import org.jspecify.annotations.NullMarked;
