;;; framedex-ways.el --- The ways of a step  -*- lexical-binding: t; -*-

;; SPDX-License-Identifier: Apache-2.0

;;; Commentary:

;; After a step with several ways, the mode line shows "way 1 of 17".  A click there, or M-x framedex-ways, lists them
;; with their calls.  If the next source is only on a public page, M-x framedex-open-public opens the page.

;;; Code:

(require 'framedex-server)

(defvar framedex--way nil
  "Text such as \"way 1 of 17\" after a step with several ways, else nil.")

(defvar framedex--others nil
  "The request that lists all ways of that step, and its parameters.")

(defvar framedex--action nil
  "The command that opens the public source at which the last step ended.")

(defvar framedex-ways-map
  (let ((map (make-sparse-keymap)))
    (define-key map [mode-line mouse-1] #'framedex-ways)
    map)
  "Keys of the text in the mode line.")

;; `framedex/led' follows the answer.  jsonrpc ends a request with a throw, so it does not handle a message that arrived
;; together with the answer until the next output of the server.
(cl-defmethod xref-backend-definitions :after ((_backend (eql eglot)) _identifier)
  "Have the server write something, so that its note on the step is handled."
  (let ((server (eglot-current-server)))
    (when (framedex--server-p server)
      (jsonrpc-async-request server :framedex/stack nil :success-fn #'ignore :error-fn #'ignore))))

(defun framedex-ways--led (text &optional ways request at action)
  "Show TEXT, the note about the latest step.
The step took the first of so many WAYS, nil if it had no other: REQUEST lists
them for AT.  ACTION opens the public source at which the step ended."
  (setq framedex--action action
        framedex--others (and ways (list (intern (concat ":" request)) at))
        framedex--way (and ways
                           (propertize (format "way 1 of %d" ways)
                                       'help-echo "mouse-1: list all ways"
                                       'mouse-face 'mode-line-highlight
                                       'local-map framedex-ways-map)))
  (force-mode-line-update t)
  (message "%s%s" text (if action " (M-x framedex-open-public)" "")))

;;;###autoload
(defun framedex-open-public ()
  "Open the page of the public source at which the last step ended."
  (interactive)
  (unless framedex--action (user-error "The last step has no public page"))
  (framedex--browse (aref (plist-get framedex--action :arguments) 0)))

(defun framedex-ways--text (way)
  "Format WAY for completion: its function, location and calls."
  (format "%s  %s  %s" (plist-get way :function) (plist-get way :place) (plist-get way :detail)))

;;;###autoload
(defun framedex-ways ()
  "Choose another way from the line of the last step, or from this line."
  (interactive)
  (let* ((others (or framedex--others (list :framedex/waysIn (framedex--here))))
         (ways (mapcar (lambda (way) (cons (framedex-ways--text way) (plist-get way :location)))
                       (apply #'framedex--find others)))
         (chosen (completing-read "Go to: " ways nil t)))
    (framedex--visit-location (cdr (assoc chosen ways)))))

;; Otherwise Emacs would ignore the text's properties.
(put 'framedex--way 'risky-local-variable t)
(add-to-list 'mode-line-misc-info '(framedex--way (" " framedex--way " ")) t)

(provide 'framedex-ways)
;;; framedex-ways.el ends here
