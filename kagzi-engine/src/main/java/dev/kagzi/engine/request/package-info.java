/** The logins to the dashboard that were ended, which all servers must know. */
@NullMarked
package dev.kagzi.engine.request;

import org.jspecify.annotations.NullMarked;
