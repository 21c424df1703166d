package dev.kagzi.sdk.internal.run;

import java.util.function.BooleanSupplier;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.Marker;
import org.slf4j.event.Level;
import org.slf4j.helpers.LegacyAbstractLogger;

@SuppressWarnings("serial") // Never serialized; LegacyAbstractLogger is Serializable.
final class ReplayLogger extends LegacyAbstractLogger {
  private final transient Logger logger;
  private final transient BooleanSupplier silent;

  ReplayLogger(Logger logger, BooleanSupplier silent) {
    this.logger = logger;
    this.silent = silent;
    this.name = logger.getName();
  }

  private boolean isEnabled(Level level) {
    return !silent.getAsBoolean() && logger.isEnabledForLevel(level);
  }

  @Override
  public boolean isTraceEnabled() {
    return isEnabled(Level.TRACE);
  }

  @Override
  public boolean isDebugEnabled() {
    return isEnabled(Level.DEBUG);
  }

  @Override
  public boolean isInfoEnabled() {
    return isEnabled(Level.INFO);
  }

  @Override
  public boolean isWarnEnabled() {
    return isEnabled(Level.WARN);
  }

  @Override
  public boolean isErrorEnabled() {
    return isEnabled(Level.ERROR);
  }

  @Override
  protected @Nullable String getFullyQualifiedCallerName() {
    return null;
  }

  @Override
  protected void handleNormalizedLoggingCall(
      Level level,
      @Nullable Marker marker,
      @Nullable String message,
      Object @Nullable [] arguments,
      @Nullable Throwable thrown) {
    var event = logger.atLevel(level).setMessage(message);
    if (marker != null) {
      event = event.addMarker(marker);
    }
    if (arguments != null) {
      for (Object argument : arguments) {
        event = event.addArgument(argument);
      }
    }
    if (thrown != null) {
      event = event.setCause(thrown);
    }
    event.log();
  }
}
