package dev.kagzi.sdk;

/** The code of an undo that uses a context: {@link Saga#undo(String, UndoCode)}. */
@FunctionalInterface
public interface UndoCode {
  /**
   * Undoes something with steps of this context. An exception fails the undo.
   *
   * @param undo the context of this undo; its steps are recorded under the undo's name
   */
  void run(WorkflowContext undo) throws Exception;
}
