package dev.kagzi.sdk;

import dev.kagzi.sdk.internal.run.NameRules;
import java.lang.reflect.Type;
import java.util.Objects;

/**
 * The name of a signal with the type of its values, shared by its senders and by the workflows that
 * receive it. Usually a constant:
 *
 * <pre>{@code
 * static final Signal<Approval> APPROVAL = Signal.of("approval", Approval.class);
 * }</pre>
 *
 * <p>{@link RunHandle#signal} sends a value to a run, {@link WorkflowContext#receive(Signal)}
 * receives it. Immutable.
 *
 * @param <T> the type of the values, which are never null
 */
// The parameter lets the compiler check the values of senders and receivers.
@SuppressWarnings("UnusedTypeParameter")
public final class Signal<T> {
  private final String name;
  private final Type type;

  private Signal(String name, Type type) {
    this.name = NameRules.checkSignal(name);
    this.type = Objects.requireNonNull(type, "type");
  }

  /** Returns a signal whose values are of a class. */
  public static <T> Signal<T> of(String name, Class<T> type) {
    return new Signal<>(name, type);
  }

  /** Returns a signal whose values are of a generic type. */
  public static <T> Signal<T> of(String name, TypeRef<T> type) {
    return new Signal<>(name, type.type());
  }

  /** Returns the name, by which the workflow receives the signal. */
  public String name() {
    return name;
  }

  /** Returns the type of the values. */
  public Type type() {
    return type;
  }

  @Override
  public String toString() {
    return name;
  }
}
