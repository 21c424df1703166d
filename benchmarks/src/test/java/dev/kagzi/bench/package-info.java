@NullMarked
package dev.kagzi.bench;

import org.jspecify.annotations.NullMarked;
