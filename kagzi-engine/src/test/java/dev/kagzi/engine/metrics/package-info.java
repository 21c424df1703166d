@NullMarked
package dev.kagzi.engine.metrics;

import org.jspecify.annotations.NullMarked;
