;;; framedex-steps.el --- Stepping along one recorded stack  -*- lexical-binding: t; -*-

;; SPDX-License-Identifier: Apache-2.0

;;; Commentary:

;; Steps from frame to frame along the selected stack, and highlights its lines.

;;; Code:

(require 'framedex-server)

(defface framedex-here '((t :inherit highlight :extend t))
  "The line of the current frame of the selected stack."
  :group 'framedex)

(defface framedex-stack '((t :inherit secondary-selection :extend t))
  "The lines of the other frames of the selected stack."
  :group 'framedex)

(defvar framedex--lines nil
  "The lines of the stack, as lists.
Each has a path, a line (from 0), and whether the reader is there.")

(defun framedex--go-to (reached)
  "Show REACHED, the position in a request's answer, and its stack."
  (when-let ((location (plist-get reached :location)))
    (framedex--visit-location location))
  (framedex--highlight-stack)
  (message "%s" (plist-get reached :text)))

(defun framedex--step (method)
  "Go to the target of METHOD from point."
  (framedex--go-to (framedex--find method (framedex--here))))

;;;###autoload
(defun framedex-step-in ()
  "Go one frame inward along the selected stack."
  (interactive)
  (framedex--step :framedex/stepIn))

;;;###autoload
(defun framedex-step-out ()
  "Go one frame outward along the selected stack."
  (interactive)
  (framedex--step :framedex/stepOut))

;;;###autoload
(defun framedex-next-stack ()
  "Go to this line on the next stack through it."
  (interactive)
  (framedex--step :framedex/nextStack))

;;;###autoload
(defun framedex-previous-stack ()
  "Go to this line on the previous stack through it."
  (interactive)
  (framedex--step :framedex/previousStack))

(defun framedex--highlight-stack ()
  "Highlight the selected stack in every buffer."
  (let* ((picked (framedex--ask :framedex/stack nil))
         (here (plist-get picked :frame))
         (number 0))
    (setq framedex--lines nil)
    (seq-doseq (frame (plist-get picked :stackFrames))
      (when-let ((location (plist-get frame :location)))
        (push (list (framedex--path (plist-get location :uri))
                    (framedex--line location)
                    (eql number here))
              framedex--lines))
      (setq number (1+ number)))
    (framedex--highlight-everywhere)
    (add-hook 'find-file-hook #'framedex--highlight-buffer)))

(defun framedex--highlight-everywhere ()
  "Highlight the stack in every buffer that has a file."
  (dolist (buffer (buffer-list))
    (with-current-buffer buffer
      (when buffer-file-name (framedex--highlight-buffer)))))

(defun framedex--highlight-buffer ()
  "Highlight the stack in this buffer."
  (remove-overlays (point-min) (point-max) 'framedex t)
  (let ((path (file-local-name buffer-file-truename)))
    (pcase-dolist (`(,file ,line ,is-here) framedex--lines)
      (when (equal file (expand-file-name path))
        (save-excursion
          (save-restriction
            (widen)
            (goto-char (point-min))
            (when (zerop (forward-line line))
              (framedex--highlight-line is-here))))))))

(defun framedex--highlight-line (is-here)
  "Highlight the line of point; IS-HERE: it is the current frame's line."
  (let ((overlay (make-overlay (line-beginning-position) (line-beginning-position 2)))
        (face (if is-here 'framedex-here 'framedex-stack)))
    (overlay-put overlay 'framedex t)
    (overlay-put overlay 'face face)
    (overlay-put overlay 'priority (if is-here 1 0))
    (overlay-put overlay 'before-string
                 (propertize " " 'display (list 'left-fringe (if is-here 'right-triangle 'vertical-bar))))))

;;;###autoload
(defun framedex-clear-stack ()
  "Remove the highlights of the stack."
  (interactive)
  (setq framedex--lines nil)
  (remove-hook 'find-file-hook #'framedex--highlight-buffer)
  (framedex--highlight-everywhere))

(provide 'framedex-steps)
;;; framedex-steps.el ends here
