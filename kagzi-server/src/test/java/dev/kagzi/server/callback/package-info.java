@NullMarked
package dev.kagzi.server.callback;

import org.jspecify.annotations.NullMarked;
