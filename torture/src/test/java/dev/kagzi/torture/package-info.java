@NullMarked
package dev.kagzi.torture;

import org.jspecify.annotations.NullMarked;
