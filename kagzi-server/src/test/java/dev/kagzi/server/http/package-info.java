@NullMarked
package dev.kagzi.server.http;

import org.jspecify.annotations.NullMarked;
