;;; Goes to the first definition until there is none.  -*- lexical-binding: t; -*-

;; Writes the places it came by to $FRAMEDEX_REPORT, one per line.

(defun step-into-first ()
  (xref-find-definitions "")
  ;; Several answers are listed; a person presses RET on the first.
  (when (get-buffer "*xref*")
    (with-current-buffer "*xref*"
      (goto-char (point-min))
      (xref-next-line)
      (xref-goto-xref t))
    (when (get-buffer "*xref*")
      (kill-buffer "*xref*"))
    (set-buffer (window-buffer))))

(set-buffer (window-buffer))
(let ((places nil))
  (condition-case nil
      (while (< (length places) 50)
        (push (format "%s:%s\n" (file-name-nondirectory buffer-file-name) (line-number-at-pos)) places)
        (step-into-first))
    (user-error nil))
  (with-temp-file (getenv "FRAMEDEX_REPORT")
    (insert (apply #'concat (reverse places)))))
