@NullMarked
package dev.kagzi.server.web;

import org.jspecify.annotations.NullMarked;
